// Package foes are hostile clients of the collection API: slow ones, that hold
// connections, and malicious ones, that send what costs a server more than it
// costs them. They run in a process of their own, at a low priority: on the
// internet they would not compute on the server's cores, nor on those of the
// clients that mean well.
package foes
