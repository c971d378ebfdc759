module github.com/weirline/weirline

go 1.26
