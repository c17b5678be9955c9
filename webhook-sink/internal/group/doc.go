// Package group is what the sink does in its consumer group beside what the client
// does by itself, or in place of that:
//
//   - a gate at which a rebalance waits for what a poll returned;
//   - commits of watermarks that do not wait for a join under way, with the records
//     finished beyond them as metadata, which the client neither writes nor reads;
//   - a farewell that is said in the midst of a join too.
//
// A commit holds the member's mutex while it waits for the broker, and takes the
// dispatcher's inside. The gate's mutex is taken alone.
package group
