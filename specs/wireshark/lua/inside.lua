-- Messages inside bytes fields: of group members, requests in Envelopes, Kafka's own records.

local VERSION = field("int16", "inside.version", "version")
local CONTROL = field("string", "record.control_type", "control type")
local TEXT = field("string", "inside.text", "text")

local MOST_DEPTH = 8 -- of Envelopes in each other, as `barnabas decode` reads them; Kafka refuses the second
local METADATA_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAQ" -- of __cluster_metadata

local inside = {}
local function inside_message(name)
  if not inside[name] then
    local declared = INSIDE[name]
    inside[name] = message(name, declared[1], declared[2], declared[3])
  end
  return inside[name]
end
for name in pairs(INSIDE) do
  inside_message(name) -- Wireshark must know all fields from the start
end

local function read_message_of(r, tree, name, version) -- a body in a version that is known
  local declared = inside_message(name)
  if not declared[version] then
    fail(r, format("%s has versions %d to %d, not %d", name, declared.first, declared.last, version))
  end
  local branch = tree:add(declared.field, r.tvb(r.at, r.stop - r.at))
  branch:append_text(format(" v%d", version))
  read_struct(r, branch, declared[version])
  if r.at < r.stop then
    tree:add(TRAILING, r.tvb(r.at, r.stop - r.at))
  end
end

local function read_versioned(r, tree, name, forward)
  tree:add(VERSION, r.tvb(r.at, math.min(2, r.stop - r.at)))
  local version = int(r, 2, "a version")
  if forward then -- Kafka reads what is newer as the newest that it knows
    version = math.min(version, inside_message(name).last)
  end
  read_message_of(r, tree, name, version)
end

local function read_member(r, tree, type_of_group, which)
  local names = PROTOCOLS[type_of_group or ""]
  if names then
    read_versioned(r, tree, names[which], true)
  end
end

local function read_user_data(r, tree, assignor, which)
  local size = r.stop - r.at
  if assignor == "stream" then
    local name = which == "subscription" and "SubscriptionInfoData" or "AssignmentInfo"
    read_message_of(r, tree, name, int(part(r, math.min(4, size)), 4, "a version"))
  elseif assignor == "cooperative-sticky" and size == 4 then
    read_message_of(r, tree, "CooperativeStickyAssignorUserData", 0)
  elseif assignor == "sticky" or assignor == "cooperative-sticky" then
    -- no version distinguishes the layouts: the generation of v1 follows all other fields
    local start, probe = r.at, part(r, size)
    local skipped = pcall(function()
      for _ = 1, int(probe, 4) do
        local name = int(probe, 2)
        need(probe, name, "a name")
        probe.at = probe.at + name
        local partitions = 4 * int(probe, 4)
        need(probe, partitions, "partitions")
        probe.at = probe.at + partitions
      end
    end)
    r.at = start
    if skipped then
      read_message_of(r, tree, "StickyAssignorUserData", r.stop - probe.at >= 4 and 1 or 0)
    else -- kafka-python has a version in front
      read_versioned(r, tree, "StickyAssignorUserData")
    end
  end
end

local read_request, read_response -- whole frames; in frames.lua

local READ = {
  ["subscription"] = function(r, tree)
    read_member(r, tree, r.known.protocol_type, "subscription")
  end,
  ["assignment"] = function(r, tree)
    read_member(r, tree, r.known.protocol_type, "assignment")
  end,
  ["consumer subscription"] = function(r, tree)
    read_member(r, tree, "consumer", "subscription")
  end,
  ["subscription's user data"] = function(r, tree)
    read_user_data(r, tree, r.known.assignor, "subscription")
  end,
  ["assignment's user data"] = function(r, tree)
    read_user_data(r, tree, r.known.assignor, "assignment")
  end,
  ["connect assignment"] = function(r, tree)
    read_versioned(r, tree, "ConnectProtocolAssignment", true)
  end,
  ["principal"] = function(r, tree)
    read_versioned(r, tree, "DefaultPrincipalData")
  end,
  ["request"] = function(r, tree)
    local known = r.known
    known.depth = (known.depth or 0) + 1
    if known.depth > MOST_DEPTH then
      fail(r, format("more than %d messages inside each other", MOST_DEPTH))
    end
    known.envelope = { peek(r, 0, 2), peek(r, 2, 2) }
    read_request(r, tree)
  end,
  ["response"] = function(r, tree)
    read_response(r, tree, r.known.envelope)
  end,
  ["address"] = function(r, tree)
    local size = r.stop - r.at
    if size == 4 or size == 16 then
      local range = r.tvb(r.at, size)
      tree:append_text(" " .. tostring(size == 4 and range:ipv4() or range:ipv6()))
    end
  end,
  ["text"] = function(r, tree)
    tree:add_packet_field(TEXT, r.tvb(r.at, r.stop - r.at), ENC_UTF_8)
  end,
}

function reveal(r, tree, kind, named_by)
  local known = r.known
  if kind ~= "records" then
    known.assignor = known[named_by] or known.assignor
  end
  if tree == nowhere and kind ~= "request" then
    return -- but the response to an Envelope is read by the request in it
  elseif kind == "records" then
    local is_log = known.topic_id == METADATA_TOPIC_ID
    known.records_of = known[named_by] or is_log and "__cluster_metadata" or ""
    guarded(r, tree, read_set)
  else
    guarded(r, tree, READ[kind])
  end
end

local function read_control(key, leaf, value_leaf, value)
  int(key, 2, "a version")
  local at = key.at
  local kind = CONTROL_TYPES[int(key, 2, "a type")] or "UNKNOWN"
  leaf:add(CONTROL, key.tvb(at, 2), kind)
  if value and CONTROL_VALUES[kind] then
    guarded(value, value_leaf, read_message_of, CONTROL_VALUES[kind], 0)
  elseif value and kind ~= "UNKNOWN" then
    guarded(value, value_leaf, read_versioned, "EndTxnMarker", true)
  end
end

local function read_coordinators(key, leaf, types, value_leaf, value)
  local name = types[int(key, 2, "a type")]
  if name then
    read_message_of(key, leaf, name .. "Key", 0)
    if value then
      guarded(value, value_leaf, read_versioned, name .. "Value")
    end
  end
end

local function read_metadata(r, tree) -- a version of this framing, which is 1; a type, its version
  local frame, kind, version = uvarint(r), uvarint(r), uvarint(r)
  if frame == 1 and METADATA_RECORDS[kind] then
    read_message_of(r, tree, METADATA_RECORDS[kind], version)
  end
end

function read_kafkas_own(is_control, key_leaf, key, value_leaf, value)
  local topic = (key or value).known.records_of
  if is_control and key then
    guarded(key, key_leaf, read_control, value_leaf, value)
  elseif TOPICS[topic] and key then
    guarded(key, key_leaf, read_coordinators, TOPICS[topic], value_leaf, value)
  elseif topic == "__cluster_metadata" and value and not is_control then
    guarded(value, value_leaf, read_metadata)
  end
end
