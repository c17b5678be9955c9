// Package deploy has no code. Its folders are what Anabranch is run and watched with in production, and its tests hold
// them against the product: that each metric they name exists with those labels, each setting is one and is valid,
// and what refers to something refers to something that is there.
//
//	prometheus   scrape configuration, recording rules, alerts, and the alerts' tests
//	grafana      dashboards and their provisioning
//	kubernetes   manifests
//
// scripts/deploy/check.sh has promtool and a schema checker look at them too.
//
// # Non-obvious
//
//   - When the brokers are away, every ingest pod is unready at once, and a Service with
//     nobody behind it refuses connections: ingest's readiness asks /healthz, only its
//     start asks /readyz (TestProbesAskWhatTheyShould).
//   - An autoscaler that goes by lag alone oscillates: when the lag is gone, so is the
//     reason for the pods that worked it off. CPU is the second measure. No test holds
//     this.
//   - absent() is what tells of a stage that is gone altogether: where targets come and
//     go with the processes, `up == 0` has no series. The alerts' tests have it
//     (TestAlertsAreTested).
//   - promtool evaluates groups of rules in no particular order unless a test says which;
//     an alert over a recorded series is then a minute late by chance. No test holds
//     this.
package deploy
