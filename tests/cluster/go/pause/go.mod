module agentbench.test/pause

go 1.26.0
