// Package report judges what a row of a storm came to, and prints it. Nothing in
// it touches the world: it is what the bench's word rests on.
package report
