// Package document is what all who read a configuration out of a tree of YAML nodes have
// in common: the words for what stands at a place, the path to it as people may see it,
// and the list of what is wrong. The tree is made of a file, or of JSON.
package document
