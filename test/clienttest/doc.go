// Package clienttest takes package analytics the whole way, to the webhook of an
// Anabranch that runs as it is shipped. It is a module of its own, so that the
// product's does not depend on its client's: the two are released side by side, and
// each can be had without the other.
package clienttest
