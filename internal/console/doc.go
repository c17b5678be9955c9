// Package console is what a person at a terminal sees of Anabranch: the
// deliveries that the built-in webhook receiver prints, and what the commands
// say. It writes to the writer it is given and leaves it to the caller whether
// there is a terminal that understands colours.
package console
