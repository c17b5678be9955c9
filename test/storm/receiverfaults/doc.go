// Package receiverfaults has the rows about what happens at the far end: receivers
// that hang, refuse or misbehave while others shall not notice.
package receiverfaults
