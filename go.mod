module github.com/weirline/weirline

go 1.26

require golang.org/x/sys v0.43.0
