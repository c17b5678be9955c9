// Package pipeline runs the product for the SDKs: `anabranch run` as a child
// process with a workspace that has a source for each run and two webhooks
// connected to each source.
package pipeline
