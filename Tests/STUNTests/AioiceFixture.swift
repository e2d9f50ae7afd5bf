/// Messages that aioice 0.13 wrote, with the password of RFC 5769.
enum AioiceFixture: CaseIterable {
    case request
    case response
    case error

    var bytes: [UInt8] {
        switch self {
        case .request:
            Vector.hexadecimal(
                """
                000100482112a4420102030405060708090a0b0c00060009616263643a65666768000000002400046e7f1eff802a0008
                01020304050607080025000000080014d0390422e0af77bdbed8dd270d7506559b7202e98028000484a315bc
                """)
        case .response:
            Vector.hexadecimal(
                """
                010100382112a4420102030405060708090a0b0c00200014000231800113a9fa0102030405060708090a0b9500080014
                23b341dfeccfb3b8e672c2c87e5d9b27590671db8028000444047152
                """)
        case .error:
            Vector.hexadecimal(
                """
                011100382112a4420102030405060708090a0b0c0009001100000457526f6c6520436f6e666c69637400000000080014
                c25187e19f94847486d0a8acde13077f88f4bb93802800042aee99e9
                """)
        }
    }
}
