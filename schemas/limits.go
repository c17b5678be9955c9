package schemas

// The limits of a request. Rule: spec.md, Limits (500 KB per batch, 32 KB per
// call), taken as decoded bytes: after decompression, before anything is added.
const (
	MaxCallBytes      = 32_768  // one call, as received
	MaxBatchBytes     = 512_000 // one batch request
	MaxBatchEvents    = 2_500   // events in one batch
	MaxMessageIDChars = 100     // Unicode code points of a messageId
	MaxDepth          = 512     // nesting of objects and arrays; receivers overflow at a few thousand
)
