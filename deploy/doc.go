// Package deploy has no code. Its folders are what Anabranch is run and watched with in production, and its tests hold
// them against the product: that each metric they name exists with those labels, each setting is one and is valid,
// and what refers to something refers to something that is there.
//
//	prometheus   scrape configuration, recording rules, alerts, and the alerts' tests
//	grafana      dashboards and their provisioning
//	kubernetes   manifests
//
// scripts/deploy/check.sh has promtool and a schema checker look at them too.
package deploy
