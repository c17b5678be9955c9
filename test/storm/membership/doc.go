// Package membership looks at a consumer group from outside: who is in it, who has
// which partitions, and whether it has been formed anew.
package membership
