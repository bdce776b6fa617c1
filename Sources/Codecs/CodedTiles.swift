import Core

/// Where the coded tiles of a grid lie in a file, as its boxes tell: what it takes to decode them one by one.
package struct CodedTiles: Sendable {
    /// The content of the box `hvcC` that all tiles share.
    package let configuration: Range<Int>
    /// Item numbers, by rows from the top left.
    package let items: [UInt32]
    /// The bytes of each, in pieces that belong together.
    package let data: [[Range<Int>]]

    package init(configuration: Range<Int>, items: [UInt32], data: [[Range<Int>]]) {
        precondition(items.count == data.count)
        self.configuration = configuration
        self.items = items
        self.data = data
    }
}
