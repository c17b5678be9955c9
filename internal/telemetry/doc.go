// Package telemetry makes what a process tells about itself: its logger, its metrics registry with what all
// stages share of it (the Kafka clients, the destinations that have series of their own), and the pages of the admin
// listener. All of it is returned and passed on; nothing here is global, so that two processes fit into one test.
//
// # Non-obvious
//
//   - A request by way of nginx's proxy_pass or of HAProxy looks like one of this machine: without ADMIN_TOKEN /regulations was
//     open to the world behind them. A token alone opens it (TestGuard), and `anabranch run` makes one (TestATokenIsMade in
//     internal/app).
//   - A page in a browser can send requests to a loopback port, under a name of its own if it has that resolved to 127.0.0.1: on
//     loopback the pages answer to loopback names alone (TestPagesInABrowserCanNotReadTheAdminPages).
//   - kprom belongs to one client and takes its series along when that closes. Sessions
//     and producers are replaced, so a plugin here belongs to a role
//     (TestTotalsOutliveClients).
//   - The client counts a batch after it has released whoever waited for its
//     acknowledgement: a metric of the client may be a moment behind what the caller
//     knows. No test holds this.
package telemetry
