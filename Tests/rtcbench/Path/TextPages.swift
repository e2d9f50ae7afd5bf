internal import Foundation
internal import RTCShareNetworkSimulation

/// A y4m file of pages that are as hard to encode as text, each shown for two seconds.
enum TextPages {
    private static let size = (width: 1280, height: 720)
    private static let count = 10

    static func write(to path: String) throws {
        var random = SeededGenerator(seed: 1)
        var bytes = Data("YUV4MPEG2 W\(size.width) H\(size.height) F1:2 C420jpeg\n".utf8)
        for _ in 0..<count {
            bytes.append(Data("FRAME\n".utf8))
            bytes.append(contentsOf: page(&random))
            bytes.append(Data(repeating: 128, count: size.width * size.height / 2))
        }
        try bytes.write(to: URL(fileURLWithPath: path))
    }

    /// Returns signs of five by seven dots, doubled, in lines of words.
    private static func page(_ random: inout SeededGenerator) -> [UInt8] {
        var luma = [UInt8](repeating: 250, count: size.width * size.height)
        for top in stride(from: 8, to: size.height - 16, by: 20) {
            for left in stride(from: 16, to: size.width - 24, by: 12) where random.next() % 6 > 0 {
                let dots = random.next()
                for row in 0..<14 {
                    for column in 0..<10 where dots >> UInt64(row / 2 * 5 + column / 2) & 1 == 1 {
                        luma[(top + row) * size.width + left + column] = 20
                    }
                }
            }
        }
        return luma
    }
}
