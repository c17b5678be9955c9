// Package sdks makes load with official SDKs of the family, in the languages that
// they are for. A small program around each says which calls the SDK sends and
// which it was told are accepted, by what the SDK itself offers for that.
package sdks
