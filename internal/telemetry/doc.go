// Package telemetry makes what a process tells about itself: its logger, its metrics registry with what all
// stages share of it (the Kafka clients, the destinations that have series of their own), and the pages of the admin
// listener. All of it is returned and passed on; nothing here is global, so that two processes fit into one test.
package telemetry
