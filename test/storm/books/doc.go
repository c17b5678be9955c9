// Package books keeps the books of a storm: which events were sent, which of
// them arrived, how often, how late and in which order. Both ends of the
// pipeline write into them, and at the end they have to agree.
package books
