// Package decode reads what a declaration (package kind) allows, and finds all
// that is wrong at once.
//
// It walks a tree of YAML nodes, which is made of a file or of a record: both are
// held to the same rules by the same code. A record differs in that its members have
// names of their own, that secrets stand in it as they are, and that it may have
// members of later releases. Nothing in it is compared with its siblings, either:
// other records are not at hand.
//
// A problem never shows a secret. What stands where a secret belongs is hidden, and
// so is a key that doesn't look like one of ours.
//
// Libraries that decode YAML into structs do not do here: they stop at the first
// mistake or give no path to it, and quote what they refuse.
package decode
