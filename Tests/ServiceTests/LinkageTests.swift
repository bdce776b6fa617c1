import Foundation
import Support
import Testing

/// What each half links: a security property, so it is tested and not only designed. `scripts/linkage` asks the same of
/// a release build.
@Suite struct LinkageTests {
    @Test func knowsNoImageLibrary() throws {
        let libraries = try Tool.run(["ldd", Program.path]).text
        #expect(libraries.contains("libmicrohttpd.so"), "ldd can see something")
        for library in ["heif", "jpeg", "exif", "lcms", "zimg", "avcodec", "de265"] {
            #expect(!libraries.contains("lib\(library)"), "\(library)")
        }
    }

    @Test func theWorkerKnowsNoNetworkLibrary() throws {
        let libraries = try Tool.run(["ldd", Program.path + "-worker"]).text
        #expect(libraries.contains("libheif.so"), "ldd can see something")
        for library in ["microhttpd", "curl", "ssl", "gnutls", "nghttp2"] {
            #expect(!libraries.contains("lib\(library)"), "\(library)")
        }
    }

    /// Its internationalisation part alone would triple the program.
    @Test func knowsNoFullFoundation() throws {
        let libraries = try Tool.run(["ldd", Program.path]).text
        for library in ["libFoundation.so", "libFoundationInternationalization.so"] {
            #expect(!libraries.contains(library))
        }
    }
}
