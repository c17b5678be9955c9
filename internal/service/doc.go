// Package service runs the parts of a process: it starts them in order, watches them, and stops them in reverse.
//
// A part is a [Service]. Parts that others build on stand in an earlier tier: a broker before the stages that
// connect to it. [Run] is the only place where parts are started and waited for, so every goroutine of the process
// has one owner, and the order of a shutdown can be read off the order of the tiers.
package service
