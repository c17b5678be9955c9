// Package retry decides when a request that failed is made again. Its functions
// are pure: the time and the dice come from the caller.
package retry
