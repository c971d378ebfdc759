//go:build !linux

package main

const argsWritable = false
