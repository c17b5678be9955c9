// Package receiver has the far ends of a storm: webhook receivers that write
// into the books what they are sent and that behave as they are told, and
// hostile ones that speak broken HTTP.
package receiver
