// Package scrape reads the /metrics page of a process that runs beside a test, with
// the parser of Prometheus itself. What runs inside a test has a registry, for which
// testkit has Series and Counters.
package scrape
