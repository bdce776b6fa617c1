import CHEIF

extension CodecError {
    /// What an error of libheif means here. The message is copied: libheif keeps it only as long as its object lives.
    ///
    /// Of "kind: cause: details" the details are left out. They may quote the file, and where a plug-in could not make
    /// an image (libheif 1.19) they are whatever lies in freed memory.
    init(_ error: heif_error) {
        let words = error.message.map { String(cString: $0).split(separator: ": ", maxSplits: 2).prefix(2) } ?? []
        self.init(
            Kind(error), "libheif: \(words.joined(separator: ": ")) (\(error.code.rawValue).\(error.subcode.rawValue))")
    }
}

extension CodecError.Kind {
    fileprivate init(_ error: heif_error) {
        switch (error.code, error.subcode) {
        case (heif_error_Invalid_input, heif_suberror_End_of_data): self = .truncated
        case (heif_error_Unsupported_filetype, _), (heif_error_Unsupported_feature, _),
            (heif_error_Plugin_loading_error, _):
            self = .unsupported
        case (heif_error_Memory_allocation_error, heif_suberror_Invalid_image_size): self = .corrupt
        case (heif_error_Memory_allocation_error, _): self = .outOfMemory
        default: self = .corrupt
        }
    }
}

/// Throws where a call of libheif failed.
func check(_ error: heif_error) throws(CodecError) {
    guard error.code == heif_error_Ok else { throw CodecError(error) }
}
