// Package clientfaults has the rows about the collection API: what clients are
// told while stages or brokers are away, and what hostile ones can do to others.
package clientfaults
