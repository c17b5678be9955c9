// Package network is a network between one process and its broker that can be cut. A
// broker tells clients where to connect to, so what it says of that is rewritten on the
// way: a client that knows the network's address alone never gets around it.
package network
