// Package ffmpeg holds FFmpeg's programs against the sidecar: by every local form
// there is, with peers that refuse, stay away, die and return; and by weirline
// exec, beside FFmpeg's own SRT on the same command lines.
//
// Lives here: tests. May import: srtcore. Never: anything of sidecar; the program
// is run as users run it.
package ffmpeg
