// Package sdksettings is what SDKs of browsers and apps fetch before they send
// anything: that calls go here, and nowhere else. It knows two families of SDKs,
// and neither sources nor their keys.
//
// # Non-obvious
//
//   - analytics.js, analytics-kotlin and React Native send nothing without settings,
//     or send to their vendor; RudderStack's JavaScript SDK gives up.
//   - Without metrics.sampleRate analytics.js reports on itself to its vendor. A
//     plan, which settings may have, would have it leave events out.
package sdksettings
