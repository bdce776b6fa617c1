import Core
import Testing

/// Expected values by arithmetic of another kind: exhaustive search, or every pixel's own place.
@Suite struct OutputGeometryTests {
    @Test func fitsExactlyOnTheSideThatBinds() {
        for width in 1...24 {
            for height in 1...24 {
                for maxWidth in [nil, 1, 5, 12, 24] as [Int?] {
                    for maxHeight in [nil, 1, 7, 12, 30] as [Int?] {
                        check(PixelSize(width: width, height: height), maxWidth, maxHeight)
                    }
                }
            }
        }
    }

    private func check(_ size: PixelSize, _ maxWidth: Int?, _ maxHeight: Int?) {
        let fitted = OutputGeometry.fitting(size, maxWidth: maxWidth, maxHeight: maxHeight)
        let scale = min(
            1, Double(maxWidth ?? 999) / Double(size.width), Double(maxHeight ?? 999) / Double(size.height))
        let (width, height) = (scale * Double(size.width), scale * Double(size.height))
        #expect(abs(Double(fitted.width) - max(1, width)) <= 0.500001, "\(size) \(fitted)")
        #expect(abs(Double(fitted.height) - max(1, height)) <= 0.500001, "\(size) \(fitted)")
        #expect(fitted.width <= maxWidth ?? 999 && fitted.height <= maxHeight ?? 999)
        if scale == 1 {
            #expect(fitted == size)
        } else {
            #expect(fitted.width == maxWidth || fitted.height == maxHeight)
        }
    }

    @Test(
        arguments: [
            (4000, 3000, 2000, nil, 2000, 1500), (4032, 3024, nil, 1000, 1333, 1000),
            (5712, 4284, 1000, 1000, 1000, 750),
            (3, 65500, nil, 100, 1, 100), (4000, 3001, 800, nil, 800, 600), (1600, 1200, 1600, 1200, 1600, 1200),
        ] as [(Int, Int, Int?, Int?, Int, Int)])
    func phones(width: Int, height: Int, maxWidth: Int?, maxHeight: Int?, toWidth: Int, toHeight: Int) {
        #expect(
            OutputGeometry.fitting(PixelSize(width: width, height: height), maxWidth: maxWidth, maxHeight: maxHeight)
                == PixelSize(width: toWidth, height: toHeight))
    }

    @Test func ratioIsTheLargestCentred() {
        for width in 1...20 {
            for height in 1...20 {
                for (across, down) in [(1, 1), (16, 9), (3, 4), (1, 20), (7, 1)] {
                    let size = PixelSize(width: width, height: height)
                    guard let part = OutputGeometry.rectangle(.ratio(across, down), in: size) else {
                        Issue.record("a ratio always lies inside")
                        continue
                    }
                    #expect(part.width == width || part.height == height)
                    let ratio = Double(across) / Double(down)
                    if part.height == height, part.width < width {
                        #expect(abs(Double(part.width) - max(1, Double(height) * ratio)) <= 0.5)
                    } else if part.height < height {
                        #expect(abs(Double(part.height) - max(1, Double(width) / ratio)) <= 0.5)
                    }
                    #expect(part.x == (width - part.width) / 2 && part.y == (height - part.height) / 2)
                    #expect(part.x + part.width <= width && part.y + part.height <= height)
                }
            }
        }
    }

    @Test func rectangleMustLieInside() {
        let size = PixelSize(width: 40, height: 30)
        func part(_ x: Int, _ y: Int, _ width: Int, _ height: Int) -> PixelRectangle? {
            OutputGeometry.rectangle(
                .rectangle(PixelRectangle(x: x, y: y, width: width, height: height)), in: size)
        }
        #expect(part(0, 0, 40, 30) != nil)
        #expect(part(39, 29, 1, 1) != nil)
        #expect(part(0, 0, 41, 1) == nil)
        #expect(part(1, 0, 40, 1) == nil)
        #expect(part(0, 30, 1, 1) == nil)
        #expect(part(9_999_999_999, 0, 1, 1) == nil)
    }

    @Test func widenedPartsHoldTheirSurroundings() {
        let size = PixelSize(width: 101, height: 67)
        for x in 0..<101 {
            for width in 1...101 - x {
                let part = PixelRectangle(x: x, y: x % 67, width: width, height: 1)
                let wide = part.widened(in: size)
                #expect(wide.x % 16 == 0 && wide.y % 16 == 0)
                #expect(wide.x <= max(0, x - 8) && wide.x + wide.width >= min(101, x + width + 8))
                #expect(wide.y <= max(0, part.y - 8) && wide.y + wide.height >= min(67, part.y + 9))
                #expect(wide.x + wide.width <= 101 && wide.y + wide.height <= 67)
                #expect(wide.intersects(part) && part.intersects(wide))
            }
        }
        let part = PixelRectangle(x: 4, y: 4, width: 4, height: 4)
        #expect(!part.intersects(PixelRectangle(x: 8, y: 4, width: 4, height: 4)))
        #expect(!part.intersects(PixelRectangle(x: 4, y: 0, width: 4, height: 4)))
        #expect(part.intersects(PixelRectangle(x: 7, y: 7, width: 1, height: 1)))
    }

    /// Every pixel of the part is found where the turned picture has it.
    @Test(arguments: Orientation.allCases) func partsTurnWithTheirPicture(orientation: Orientation) {
        let size = PixelSize(width: 7, height: 5)
        let part = PixelRectangle(x: 1, y: 2, width: 4, height: 2)
        let turned = part.applying(orientation, in: size)
        #expect(turned.size == part.size.applying(orientation))
        var columns: Set<Int> = []
        var rows: Set<Int> = []
        for y in part.y..<part.y + part.height {
            for x in part.x..<part.x + part.width {
                let (right, bottom) = (size.width - 1 - x, size.height - 1 - y)
                let place = [
                    (x, y), (right, y), (right, bottom), (x, bottom), (y, x), (bottom, x), (bottom, right), (y, right),
                ][Int(orientation.rawValue) - 1]
                columns.insert(place.0)
                rows.insert(place.1)
            }
        }
        #expect(columns == Set(turned.x..<turned.x + turned.width))
        #expect(rows == Set(turned.y..<turned.y + turned.height))
        #expect(turned.applying(orientation.inverse, in: size.applying(orientation)) == part)
    }
}
