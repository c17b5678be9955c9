// Package receiver is the webhook receiver that is built in: it checks each delivery
// as a customer would and prints it. It writes to the writer it is given and leaves it
// to the caller whether there is a terminal that understands colours.
package receiver
