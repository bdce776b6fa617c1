import Core

/// The texts of `safelight help`, from the same lists that read the command line.
enum Help {
    static func text(for command: Command) -> String {
        switch command {
        case .serve: serve
        case .convert: convert
        case .inspect: inspect
        }
    }

    static let overview = """
        safelight: takes HEIC and JPEG photos in, gives upright, private JPEGs out

          safelight serve [--listen HOST:PORT] [--store DIR] …   serve HTTP and store what is uploaded
          safelight convert FILE|- -o FILE|- [--quality N] …     prepare one photo
          safelight inspect FILE|- [--exif return] …             tell what a photo is and what would become of it
          safelight version
          safelight help [serve|convert|inspect]

        Exit code: 0 done, 1 the photo was refused or something failed, 2 wrong usage.

        """

    private static let serve =
        """
        safelight serve: serves HTTP and stores what is uploaded, until SIGTERM, SIGINT or SIGHUP

        Every flag has an environment twin; the flag wins.


        """
        + table(
            SettingDescriptor.all.map {
                ($0.usage, $0.summary, "\($0.variable), default \($0.fallback); \($0.allowed)")
            })

    private static let convert =
        """
        safelight convert FILE|- -o FILE|- [options]: prepares one photo; '-' is standard input or output


        """ + table([("-o, --output FILE|-", "where the JPEG goes; a file there is replaced", "required")] + options)

    private static let inspect =
        """
        safelight inspect FILE|- [options]: tells what a photo is, what it says of itself as far as --exif and --gps let
        it, and what would become of it; as JSON, or readable where standard output is a terminal


        """ + table(options)

    private static let options: [(usage: String, summary: String, note: String)] =
        OptionDescriptor.all.map {
            ("--\($0.flag) VALUE", $0.summary, $0.allowed + ($0.fallback.map { "; default \($0)" } ?? ""))
        } + [
            ("--worker FILE", "the program of the worker", "SAFELIGHT_WORKER, default beside safelight"),
            (
                "--allow-unsandboxed", "decode without a sandbox where the kernel has no seccomp",
                "SAFELIGHT_ALLOW_UNSANDBOXED"
            ),
        ]

    private static func table(_ rows: [(usage: String, summary: String, note: String)]) -> String {
        rows.map { "  \($0.usage)\n      \($0.summary) (\($0.note))\n" }.joined()
    }
}

extension SettingDescriptor {
    /// As it is written on a command line.
    var usage: String { "--\(flag)" + (placeholder.map { " " + $0 } ?? "") }
}

extension OptionDescriptor {
    /// The option's flag without its dashes: a parameter's `max_width` is the command line's `--max-width`.
    var flag: String { name.map { $0 == "_" ? "-" : String($0) }.joined() }
}
