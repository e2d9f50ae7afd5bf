// The simulated network is a separate library, which tests with this module use without a second import.
@_exported public import RTCShareNetworkSimulation
