package main

// argsWritable: the runtime's arguments are the process's own memory.
const argsWritable = true
