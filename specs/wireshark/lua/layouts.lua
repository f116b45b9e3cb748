-- Layouts of the table, bound to Wireshark's fields.

local PREFIX = "bkafka"

local bkafka = Proto(PREFIX, "Kafka (barnabas)")
local fields = {} -- by filter name: a name has one type, wherever it is used

local function field(make, name, label, ...)
  local abbreviation = PREFIX .. "." .. name
  if not fields[abbreviation] then
    fields[abbreviation] = ProtoField[make](abbreviation, label or name, ...)
  end
  return fields[abbreviation]
end

local NULL = field("string", "null", "null")
local TAG = field("int32", "unknown_tag", "unknown tagged field")
local TAG_DATA = field("bytes", "unknown_tag.data", "data")
local TRAILING = field("bytes", "trailing", "trailing bytes")
local UNREAD = field("bytes", "unread", "bytes that were not read")
local ERROR = field("int16", "error", "error", base.DEC, ERRORS)
local ENTITY = {
  topic = field("string", "topic", "topic"),
  group = field("string", "group", "group"),
  transactional_id = field("string", "transactional_id", "transactional_id"),
}

local MALFORMED =
  ProtoExpert.new(PREFIX .. ".malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
local ODD = ProtoExpert.new(PREFIX .. ".odd", "Odd", expert.group.PROTOCOL, expert.severity.NOTE)

local FIXED =
  { bool = 1, int8 = 1, int16 = 2, uint16 = 2, int32 = 4, uint32 = 4, int64 = 8, float64 = 8 }
local MAKE = { uuid = "string", records = "bytes", float64 = "double" }

local function field_of(kind, path, name)
  if kind == "int16" and name:match("error_code$") then
    return field("int16", path, name, base.DEC, ERRORS)
  elseif kind == "int16" and name:match("api_key$") then
    return field("int16", path, name, base.DEC, API_NAMES)
  end
  return field(MAKE[kind] or kind, path, name)
end

-- The text of a type: [..] array, {n} structure with that number, ? nullable, ~ not compact.
local bind
local function bind_type(text, message, path, compact)
  local bare, classic, nullable = text:gsub("%?$", ""), text:match("^~"), text:match("%?$")
  bare = bare:gsub("^~", "")
  local slot = { compact = compact and not classic, nullable = nullable ~= nil }
  slot.name = path:match("[^.]+$")
  local element, number = bare:match("^%[(.*)%]$"), bare:match("^{(%d+)}$")
  if element then
    slot.kind, slot.element = "array", bind_type(element, message, path, compact)
    slot.field = field("int32", message.prefix .. path .. ".length", slot.name)
  elseif number then
    slot.kind, slot.struct = "struct", bind(tonumber(number), message, path)
    slot.field = field("none", message.prefix .. path, slot.name)
  else
    local place = message.name .. " " .. path
    slot.kind, slot.field = bare, field_of(bare, message.prefix .. path, slot.name)
    slot.size, slot.entity = FIXED[bare], ENTITY[ENTITIES[place]]
    slot.hides, slot.says = PLACES[place], SAYS[slot.name]
    slot.error = bare == "int16" and slot.name:match("error_code$")
  end
  return slot
end

-- A structure of the table as slots: plain slots in order, tagged slots by tag.
local bound = {}
function bind(number, message, path)
  local key = format("%s %s %d", message.name, path, number)
  local struct = bound[key]
  if not struct then
    struct = { tags = {} }
    bound[key] = struct
    local flexible, slots = STRUCTURES[number]:match("^(%+?)(.*)$")
    struct.flexible = flexible == "+"
    for text in slots:gmatch("%S+") do
      local tag, name, kind = text:match("^(%d*)=?([%l%d_]+):(.+)$")
      local here = path == "" and name or path .. "." .. name
      local slot = bind_type(kind, message, here, struct.flexible)
      slot.tagged = tag ~= ""
      if slot.tagged then
        struct.tags[tonumber(tag)] = slot
      else
        struct[#struct + 1] = slot
      end
    end
  end
  return struct
end

-- A message of the table: the structures of each version, and of its header.
local function message(name, prefix, first, versions)
  local found = { name = name, prefix = prefix, last = first - 1, headers = {} }
  found.first, found.field = first, prefix ~= "" and field("none", prefix:sub(1, -2), name)
  for header, number in versions:gmatch("(%d*):(%d+)") do
    found.last = found.last + 1
    found.headers[found.last] = tonumber(header)
    found[found.last] = bind(tonumber(number), found, "")
  end
  return found
end
