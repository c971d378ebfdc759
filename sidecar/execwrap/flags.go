package execwrap

import "strings"

// The options of each program that take no value; every other takes one. The
// programs' own parsers decide by such a table, so this must agree with them.
var (
	ffmpegFlags = flagSet(commonFlags, `y n accurate_seek an auto_conversion_filters benchmark
		benchmark_all bitexact copy_unknown copyinkf copyts debug_ts dn dump find_stream_info
		fix_sub_duration force_fps hex ignore_unknown print_graphs psnr qphist re recast_media shortest sn
		start_at_zero stats stdin vn vstats xerror display_hflip display_vflip fix_sub_duration_heartbeat`)
	probeFlags = flagSet(commonFlags, `bitexact byte_binary_prefix count_frames count_packets
		find_stream_info prefix pretty private sections sexagesimal show_chapters show_data show_error
		show_format show_frames show_library_versions show_packets show_pixel_formats
		show_private_data show_program_version show_programs show_stream_groups show_streams show_versions unit
		analyze_frames`)
	playFlags = flagSet(commonFlags, `alwaysontop an autoexit autorotate enable_vulkan exitonkeydown
		exitonmousedown fast find_stream_info framedrop fs genpts infbuf noborder nodisp sn stats vn`)
)

const commonFlags = `L h ? help -help version buildconf formats muxers demuxers devices codecs decoders
	encoders bsfs protocols filters pix_fmts layouts sample_fmts dispositions colors hwaccels sources
	sinks report hide_banner`

func flagSet(lists ...string) map[string]bool {
	set := map[string]bool{}
	for _, l := range lists {
		for _, name := range strings.Fields(l) {
			set[name] = true
		}
	}
	return set
}

// fileOptions take a file name or an address that is none of ours to open.
var fileOptions = flagSet("progress sdp_file attach dump_attachment vstats_file passlogfile metadata report o")

// takesValue reports whether the option arg has next for its value. Of options
// that no table has, next decides: what begins like an option of ours or is an
// address is hardly a value.
func takesValue(flags map[string]bool, arg, next string) bool {
	name, _, _ := strings.Cut(arg[1:], ":")
	if flags[name] || flags[strings.TrimPrefix(name, "no")] {
		return false
	}
	if fileOptions[name] {
		return true
	}
	return next != "-i" && !isSRT(next) && !isOption(next)
}
