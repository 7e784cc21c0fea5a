// One sender of ns-3 over one bottleneck: what its window, its estimate of marks, the queue and the receiver do over time.
//
// Lines on stdout, each with a time in seconds:
//   w TIME BYTES STATE   congestion window, and the state of the sender as ns-3 numbers it
//   a TIME ALPHA         share of marked bytes that DCTCP estimates
//   q TIME PACKETS       packets that wait at the bottleneck
//   r TIME BYTES         payload that the receiver has got so far

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include <cstdio>
#include <string>

using namespace ns3;

namespace {

constexpr uint16_t kPort = 5001;
constexpr uint32_t kBuffer = 6 << 20;

uint64_t received = 0;
uint32_t window = 0;
int state = 0;

double Seconds() { return Simulator::Now().GetSeconds(); }

void PrintWindow() { std::printf("w %.9f %u %d\n", Seconds(), window, state); }

void OnWindow(uint32_t, uint32_t bytes) {
    window = bytes;
    PrintWindow();
}

void OnState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now) {
    state = now;
    PrintWindow();
}

void OnEstimate(uint32_t, uint32_t, double alpha) { std::printf("a %.9f %.6f\n", Seconds(), alpha); }

// Keeps the buffer of the sender full.
void Fill(Ptr<Socket> socket, uint32_t) {
    while (uint32_t room = socket->GetTxAvailable()) {
        if (socket->Send(Create<Packet>(std::min(room, 65536U))) <= 0) {
            return;
        }
    }
}

void OnConnected(Ptr<Socket> socket) { Fill(socket, 0); }

void Read(Ptr<Socket> socket) {
    while (Ptr<Packet> packet = socket->Recv()) {
        if (packet->GetSize() == 0) {
            return;
        }
        received += packet->GetSize();
    }
}

void OnAccepted(Ptr<Socket> socket, const Address&) { socket->SetRecvCallback(MakeCallback(&Read)); }

// Packets that wait: those of the discipline, if there is one, and those of the device.
void Sample(Ptr<QueueDisc> discipline, Ptr<Queue<Packet>> device, Time every) {
    uint32_t waiting = device->GetNPackets() + (discipline ? discipline->GetNPackets() : 0);
    std::printf("q %.9f %u\nr %.9f %lu\n", Seconds(), waiting, Seconds(), (unsigned long)received);
    Simulator::Schedule(every, &Sample, discipline, device, every);
}

}  // namespace

int main(int argc, char** argv) {
    std::string control = "TcpLinuxReno";
    uint64_t rate = 20000000;
    uint64_t delay_ns = 20000000;
    uint32_t room_bytes = 50000;
    uint64_t mark_ns = 0;
    bool has_limits = false;
    double time_s = 12;
    uint32_t segment = 1448;
    CommandLine line;
    line.AddValue("control", "congestion control", control);
    line.AddValue("rate", "bits per second of the bottleneck", rate);
    line.AddValue("delay", "round-trip time of an empty path, in nanoseconds", delay_ns);
    line.AddValue("room", "bytes that the bottleneck holds", room_bytes);
    line.AddValue("mark", "nanoseconds that a packet waits at least if it is marked; 0: none is", mark_ns);
    line.AddValue("limits", "whether the device has dynamic queue limits", has_limits);
    line.AddValue("time", "seconds", time_s);
    line.AddValue("segment", "payload of a segment in bytes", segment);
    line.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::" + control)));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(kBuffer));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(kBuffer));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout", TimeValue(MilliSeconds(40)));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(false));

    NodeContainer nodes(2);
    InternetStackHelper().Install(nodes);

    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", DataRateValue(DataRate("100Gbps")));
    link.SetChannelAttribute("Delay", TimeValue(NanoSeconds(delay_ns / 2)));
    NetDeviceContainer devices = link.Install(nodes);
    Ptr<PointToPointNetDevice> device = DynamicCast<PointToPointNetDevice>(devices.Get(0));
    device->SetDataRate(DataRate(rate));
    // A discipline marks, and the device behind it holds three packets more, as in ns-3's validation.
    std::string room = mark_ns > 0 ? "3p" : std::to_string(room_bytes) + "B";
    device->GetQueue()->SetAttribute("MaxSize", QueueSizeValue(QueueSize(room)));

    Ptr<QueueDisc> discipline;
    if (mark_ns > 0) {
        Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue("On"));
        TrafficControlHelper codel;
        codel.SetRootQueueDisc("ns3::CoDelQueueDisc", "UseEcn", BooleanValue(true), "CeThreshold",
                               TimeValue(NanoSeconds(mark_ns)));
        if (has_limits) {
            codel.SetQueueLimits("ns3::DynamicQueueLimits", "HoldTime", TimeValue(MilliSeconds(1)));
        }
        discipline = codel.Install(devices.Get(0)).Get(0);
    }
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
    // Addresses come with a discipline, where there is none.
    if (mark_ns == 0) {
        TrafficControlHelper().Uninstall(devices.Get(0));
    }
    TrafficControlHelper().Uninstall(devices.Get(1));

    Ptr<Socket> receiver = Socket::CreateSocket(nodes.Get(1), TcpSocketFactory::GetTypeId());
    receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
    receiver->Listen();
    receiver->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(), MakeCallback(&OnAccepted));

    Ptr<Socket> sender = Socket::CreateSocket(nodes.Get(0), TcpSocketFactory::GetTypeId());
    sender->TraceConnectWithoutContext("CongestionWindow", MakeCallback(&OnWindow));
    sender->TraceConnectWithoutContext("CongState", MakeCallback(&OnState));
    if (control == "TcpDctcp") {
        PointerValue operations;
        sender->GetAttribute("CongestionOps", operations);
        operations.Get<TcpDctcp>()->TraceConnectWithoutContext("CongestionEstimate", MakeCallback(&OnEstimate));
    }
    sender->SetConnectCallback(MakeCallback(&OnConnected), MakeNullCallback<void, Ptr<Socket>>());
    sender->SetSendCallback(MakeCallback(&Fill));
    sender->Bind();
    // Disciplines are ready from the start of the simulation.
    Address peer = InetSocketAddress(interfaces.GetAddress(1), kPort);
    Simulator::Schedule(Time(0), [sender, peer] { sender->Connect(peer); });

    Simulator::Schedule(Time(0), &Sample, discipline, device->GetQueue(), MilliSeconds(1));
    Simulator::Stop(ns3::Seconds(time_s));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
