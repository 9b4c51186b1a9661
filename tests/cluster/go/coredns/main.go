// Command coredns is CoreDNS with the plugins that a test cluster uses, and no cloud's.
package main

import (
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/health"
	_ "github.com/coredns/coredns/plugin/hosts"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"

	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/coremain"
)

func main() {
	// The order in which plugins see a query.
	dnsserver.Directives = []string{"health", "ready", "errors", "cache", "hosts", "kubernetes"}
	coremain.Run()
}
