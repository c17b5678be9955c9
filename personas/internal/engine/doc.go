// Package engine says who is a member of which audience, and what the computed traits of
// a user are, without knowing of Kafka or of a clock.
package engine
