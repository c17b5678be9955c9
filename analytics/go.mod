module github.com/anabranch/anabranch/analytics

go 1.22
