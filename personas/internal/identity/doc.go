// Package identity decides which ids are one user: what a call claims, what the owner of a
// claimed id answers, and where a state goes that is handed over. It knows neither Kafka
// nor partitions: messages go out by a function, in order between any two ids.
//
// A claim is noted in the claimant's links at once, and asked of the id's owner (link). That
// one redirects the id to the claimant and sends its state (merge), or refuses.
//
// # Non-obvious
//
// Many owners decide at the same time, and yet redirects never form a circle: an id that
// has claimed others itself gives way only to one that stands above it, by rank and then by
// id. A claimant who does not is asked to rise (raise), so that it is still the user of the
// alias who stays. Ranks only rise, and stand still in who was merged (TestAnyOrder,
// TestACircle).
//
// Links are the one part of a record that is never let go of, and aliases are not bounded in
// time: without a bound of their bytes a user whom everybody is aliased to would get a record
// that no broker takes, and their partition would stand still (TestLinksAreBounded).
package identity
