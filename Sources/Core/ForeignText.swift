extension String {
    /// Foreign text made fit to be shown, logged and passed on: without what does not print (controls, line ends, marks
    /// that turn the direction of writing, code points of no meaning), and at most `scalarsMax` Unicode scalars long.
    package func printable(scalarsMax: Int) -> String {
        let kept = unicodeScalars.lazy.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
            default: true
            }
        }
        return String(String.UnicodeScalarView(kept.prefix(scalarsMax)))
    }
}
