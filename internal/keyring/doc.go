// Package keyring reads lists of keys from settings: SECRETS_KEY, SUPPRESSION_KEY. Of a
// list the first key is the current one, and the others are there for what was made with
// them. What a key is used for is derived from it ([Key.Derive]), so that what one use
// gives away tells nothing of another.
package keyring
