-- Frames: an int32 size, a header, a body. TCP conversations, and requests paired with their responses.

local MOST_BYTES = 0x10000000 -- of a frame: who announces more is not in step

local SIZE = field("int32", "size", "size")
local IS_REQUEST = field("bool", "is_request", "is a request")
local API = field("int16", "api_key", "api_key", base.DEC, API_NAMES)
local API_VERSION = field("int16", "api_version", "api_version")
local REQUEST_IN = field("framenum", "request_in", "request in", base.NONE, frametype.REQUEST)
local RESPONSE_IN = field("framenum", "response_in", "response in", base.NONE, frametype.RESPONSE)
local TIME = field("relative_time", "time", "time since the request")
local TOKEN = field("bytes", "sasl_token", "SASL token without a header")

local HEADER_OF = {
  request = message("RequestHeader", "", 0, HEADERS.request),
  response = message("ResponseHeader", "", 0, HEADERS.response),
}
local apis = {}
for key, api in pairs(APIS) do
  local name = API_NAMES[key]
  apis[key] = {
    request = message(name .. "Request", api[1] .. "_request.", api.first, api[2]),
    response = message(name .. "Response", api[1] .. "_response.", api.first, api[3]),
  }
end

local CUT_OFF = "the frame is cut off in the capture"
local API_VERSIONS, SASL_HANDSHAKE, UNSUPPORTED_VERSION = 18, 17, 35

-- A header and a body, after the size; the tree shows what can't be read.
local function read_frame(r, tree, direction, key, version)
  local declared = apis[key] and apis[key][direction]
  local header = declared and declared.headers[version]
  if not guarded(r, tree, read_struct, HEADER_OF[direction][header or (direction == "request" and 1 or 0)]) then
    return
  end
  if not header then
    local leaf = tree:add(UNREAD, r.tvb(r.at, r.stop - r.at))
    leaf:add_proto_expert_info(ODD, "an API or a version that is not known here")
    return
  end
  local branch = tree:add(declared.field, r.tvb(r.at, r.stop - r.at))
  branch:append_text(format(" v%d", version))
  -- a broker that does not support the version of an ApiVersions request responds in v0 (KIP-511)
  local left = r.stop - r.at
  if key == API_VERSIONS and direction == "response" and left >= 6 and peek(r, 0, 2) == UNSUPPORTED_VERSION then
    version = left == 6 + 6 * peek(r, 2, 4) and 0 or version
  end
  read_body(r, branch, declared[version])
end

function read_request(r, tree)
  read_frame(r, tree, "request", peek(r, 0, 2), peek(r, 2, 2))
end

function read_response(r, tree, asked)
  if asked then
    read_frame(r, tree, "response", asked[1], asked[2])
  end
end

-- Whether a request begins here: its API and version exist; if it is whole, all of it can be read,
-- otherwise the client has a name.
local function looks_like_request(tvb)
  if tvb:len() < 12 then
    return false
  end
  local size, api, version = tvb(0, 4):int(), apis[tvb(4, 2):int()], tvb(6, 2):int()
  local header = api and HEADER_OF.request[api.request.headers[version]]
  if not header or size < 8 or size > MOST_BYTES then
    return false
  end
  local r = reader(tvb, 4, math.min(tvb:len(), 4 + size), { items = 0 })
  r.tvb = nothing
  local fine = pcall(read_struct, r, nowhere, header) and pcall(read_struct, r, nowhere, api.request[version])
  if size + 4 > tvb:len() then
    return tvb:len() >= 14 and tvb(12, 2):int() > 0
  end
  return fine and r.at == r.stop
end

local STREAM = Field.new("tcp.stream")
local conversations = {} -- by stream
local seen = {} -- requests, by packet, direction, place, and the frame's first bytes
local astray = {} -- packets in which no frame begins

function bkafka.init()
  conversations, seen, astray = {}, {}, {}
end

local function conversation_of(pinfo)
  local found = { STREAM() } -- of a tunnel, too, there may be several
  local stream = found[#found] and found[#found].value or 0
  conversations[stream] = conversations[stream] or { asked = {}, astray = {} }
  return conversations[stream]
end

local is_port = {}

local function is_request(conversation, tvb, pinfo)
  local from, to = pinfo.src_port, pinfo.dst_port
  if not conversation.server then
    if is_port[from] ~= is_port[to] then
      conversation.server = is_port[to] and to or from
    elseif looks_like_request(tvb) then
      conversation.server = to
    end
  end
  return conversation.server == to
end

-- Whether it is a GSSAPI token with which a client of 0.9 begins, without a handshake (RFC 2743, 3.1).
local function is_first_token(conversation, tvb)
  return not conversation.begun and tvb:len() > 4 and tvb(4, 1):uint() == 0x60
end

-- Whether a frame may begin here: in the middle of a conversation it may also be the middle of a frame.
local function begins(conversation, tvb, asking)
  if tvb:len() < 8 then
    return not conversation.astray[asking]
  end
  local size = tvb(0, 4):int()
  local whole = size + 4 <= tvb:len()
  if size < (asking and 8 or 4) or size > MOST_BYTES then
    return false
  elseif asking then
    return whole or conversation.raw or is_first_token(conversation, tvb) or apis[tvb(4, 2):int()] ~= nil
  end
  return whole or conversation.raw or conversation.asked[tvb(4, 4):int()] ~= nil
end

local function in_step(conversation, tvb, pinfo, asking)
  if not pinfo.visited then
    conversation.astray[asking] = not begins(conversation, tvb, asking)
    astray[pinfo.number] = conversation.astray[asking] or nil
  end
  return not astray[pinfo.number]
end

-- The facts about a frame from preceding frames, computed when it is first seen: the request that it is or
-- responds to; "token"; or false. Requests with one id form a chain, and the first has its end.
local function first_sight(conversation, tvb, pinfo, asking)
  local asked, has_header = conversation.asked, tvb:len() >= (asking and 12 or 8)
  if asking then
    conversation.raw = conversation.raw or is_first_token(conversation, tvb)
    conversation.begun = true
  end
  local id = has_header and tvb(asking and 8 or 4, 4):int()
  local first = asked[id]
  if asking and has_header and not (conversation.raw and not looks_like_request(tvb)) then
    local request = { packet = pinfo.number, time = pinfo.rel_ts }
    request.key, request.version = tvb(4, 2):int(), tvb(6, 2):int()
    request.type_before, request.assignor_before = conversation.protocol_type, conversation.assignor
    if first then
      (first.last or first).after = request
      first.last = request
    else
      asked[id] = request
    end
    conversation.raw = request.key == SASL_HANDSHAKE and request.version == 0
    return request
  elseif first and not asking then
    asked[id], first.answer = first.after, pinfo.number
    if first.after then
      first.after.last = first.last
    end
    return first
  end
  return conversation.raw and "token"
end

local function sight_of(conversation, tvb, pinfo, asking, nth)
  local bytes = tvb:len() > 4 and tvb:raw(4, math.min(8, tvb:len() - 4)) or ""
  local key = pinfo.number .. (asking and ">" or "<") .. nth .. bytes
  if seen[key] == nil then
    seen[key] = first_sight(conversation, tvb, pinfo, asking) or false
  end
  return seen[key]
end

local function show_pair(tree, request, pinfo, asking, tvb)
  if asking and request.answer then
    tree:add(RESPONSE_IN, tvb(0, 0), request.answer):set_generated()
  elseif not asking then
    tree:add(API, tvb(0, 0), request.key):set_generated()
    tree:add(API_VERSION, tvb(0, 0), request.version):set_generated()
    tree:add(REQUEST_IN, tvb(0, 0), request.packet):set_generated()
    local seconds = pinfo.rel_ts - request.time
    local whole = floor(seconds)
    local time = NSTime.new(whole, floor((seconds - whole) * 1e9 + 0.5))
    tree:add(TIME, tvb(0, 0), time):set_generated()
  end
end

local function show_frame(tvb, pinfo, root, conversation, asking, nth)
  local direction = asking and "request" or "response"
  local tree = root:add(bkafka, tvb(), "Kafka " .. direction)
  local known = known_of(tree)
  local shown = (known.is_visible or known.is_named) and tree or nowhere
  shown:add(IS_REQUEST, tvb(0, 0), asking):set_generated()
  if tvb:len() < 4 then
    tree:add_proto_expert_info(ODD, CUT_OFF)
    return "cut off"
  end
  local size = tvb(0, 4):int()
  shown:add(SIZE, tvb(0, 4))
  if size ~= tvb:reported_len() - 4 then
    local leaf = tree:add(UNREAD, tvb(4, tvb:len() - 4))
    leaf:add_proto_expert_info(MALFORMED, format("a frame of %d bytes", size))
    return "malformed"
  end
  local request, least = sight_of(conversation, tvb, pinfo, asking, nth), asking and 8 or 4
  if request == "token" then
    tree:add(TOKEN, tvb(4, tvb:len() - 4))
    return "SASL token"
  elseif size < least then
    tree:add_proto_expert_info(MALFORMED, format("a frame of %d bytes", size))
    return "malformed"
  elseif tvb:len() < least + 4 then
    tree:add_proto_expert_info(ODD, CUT_OFF)
    return "cut off"
  end
  if not request then
    local r = reader(tvb, 4, tvb:len(), known)
    guarded(r, tree, read_struct, HEADER_OF.response[0])
    local leaf = tree:add(UNREAD, tvb(r.at, tvb:len() - r.at))
    leaf:add_proto_expert_info(ODD, "what this answers is not in the capture")
    return "Response to what was not seen"
  end
  if shown ~= nowhere then
    show_pair(tree, request, pinfo, asking, tvb)
  end
  local when = asking and "before" or "after"
  known.protocol_type, known.assignor = request["type_" .. when], request["assignor_" .. when]
  known.envelope = request.envelope
  local r = reader(tvb, 4, tvb:len(), known)
  if tvb:len() < tvb:reported_len() then
    tree:add_proto_expert_info(ODD, CUT_OFF)
  end
  if asking then
    read_request(r, tree)
  else
    read_frame(r, tree, "response", request.key, request.version)
  end
  if not pinfo.visited then
    local assignor = known.protocol_name or known.assignor
    conversation.protocol_type = known.protocol_type or conversation.protocol_type
    conversation.assignor = assignor or conversation.assignor
    if asking then
      request.type_after, request.assignor_after = known.protocol_type, assignor
      request.envelope = known.envelope
    end
  end
  local name = API_NAMES[request.key] or "API " .. request.key
  local text = format("%s v%d %s", name, request.version, direction)
  shown:append_text(format(": %s, correlation id %d", text, tvb(asking and 8 or 4, 4):int()))
  return text
end

function bkafka.dissector(tvb, pinfo, root)
  local conversation = conversation_of(pinfo)
  local asking = is_request(conversation, tvb, pinfo)
  pinfo.cols.protocol = "Kafka"
  if not in_step(conversation, tvb, pinfo, asking) then
    pinfo.cols.info = "no frame of Kafka begins here"
    local tree = root:add(bkafka, tvb(), "Kafka: no frame begins here")
    tree:add_proto_expert_info(MALFORMED, "no frame of Kafka begins here")
    return tvb:len()
  end
  local texts = {}
  dissect_tcp_pdus(tvb, root, 4, function(bytes, _, offset)
    local left = bytes:len() - offset
    local size = left < 4 and -1 or bytes(offset, 4):int()
    return size >= 0 and size <= MOST_BYTES and size + 4 or left
  end, function(bytes, packet, tree)
    texts[#texts + 1] = show_frame(bytes, packet, tree, conversation, asking, #texts)
    packet.cols.info = table.concat(texts, ", ", 1, math.min(#texts, 20))
    return bytes:len()
  end)
  return tvb:len()
end

bkafka:register_heuristic("tcp", function(tvb, pinfo, root)
  if not looks_like_request(tvb) then
    return false
  end
  pinfo.conversation = bkafka
  bkafka.dissector(tvb, pinfo, root)
  return true
end)

-- Ports of brokers, and their ports with TLS.
local MOST_PORT = 65535
local prefs = bkafka.prefs
prefs.ports = Pref.range("TCP ports", "9092", "Brokers' ports, such as 9092,19092-19094", MOST_PORT)
prefs.tls_ports = Pref.range("TLS ports", "9093", "Brokers' ports with TLS", MOST_PORT)
local listening = {}

local function listen(ports, tables)
  for name, dissector in pairs(tables) do
    local of, before = DissectorTable.get(name), listening[ports] and listening[ports][name]
    if before and before ~= "" then
      of:remove(before, dissector)
    end
    if prefs[ports] ~= "" then
      of:add(prefs[ports], dissector)
    end
    listening[ports] = listening[ports] or {}
    listening[ports][name] = prefs[ports]
  end
  for first, last in prefs[ports]:gmatch("(%d+)%-?(%d*)") do
    for port = tonumber(first), tonumber(last) or tonumber(first) do
      is_port[port] = true
    end
  end
end

local function listen_on_all()
  is_port = {}
  listen("ports", { ["tcp.port"] = bkafka })
  listen("tls_ports", { ["tcp.port"] = Dissector.get("tls"), ["tls.port"] = bkafka })
end

bkafka.prefs_changed = listen_on_all

local registered = {}
for _, each in pairs(fields) do
  registered[#registered + 1] = each
end
bkafka.fields = registered
bkafka.experts = { MALFORMED, ODD }
listen_on_all()
