module github.com/anabranch/anabranch/test/clienttest

go 1.26.0

require github.com/anabranch/anabranch/analytics v0.0.0

replace github.com/anabranch/anabranch/analytics => ../../analytics
