// Not built: its module holds the definitions of ServiceMonitor, PodMonitor and PrometheusRule.
module agentbench.test/monitoring

go 1.25.0

require github.com/prometheus-operator/prometheus-operator v0.92.1
