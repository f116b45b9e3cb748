-- Values: reads by a layout, and adds the visible fields to Wireshark's tree.

local function length(r, slot) -- nil: null
  local start, kind, n = r.at, slot.kind, nil
  if slot.compact then
    n = uvarint(r) - 1
  else
    n = int(r, kind == "string" and 2 or 4, "a length")
  end
  local left = r.stop - r.at
  if n < 0 and slot.nullable then
    return nil
  elseif n < 0 then
    r.at = start
    fail(r, format("null where %s is expected", kind))
  elseif n > left then
    r.at = start
    fail(r, format("%d %s announced, %d bytes remain", n, kind == "array" and "elements" or "bytes", left))
  elseif kind == "string" and n > 32767 then
    r.at = start
    fail(r, format("a string of %d bytes", n))
  end
  return n
end

local function is_present(r, slot) -- of a nullable structure, by what stands in front
  if slot.tagged then
    return uvarint(r) > 0
  end
  return int(r, 1, "a null marker") >= 0
end

local function null(r, tree, slot, start)
  tree:add(NULL, r.tvb(start, r.at - start), slot.name, slot.name .. ": null")
end

-- A tree that shows nothing and has no ranges: for fields that are read but not shown.
local nowhere = {}
local function nothing()
  return nowhere
end
for _, name in ipairs({ "add", "add_packet_field", "append_text", "set_generated", "set_hidden", "set_len", "set_text" }) do
  nowhere[name] = nothing
end
nowhere.add_proto_expert_info = nothing

-- The facts about a message before it is read. Most messages are read without being displayed, and adding a
-- field takes a hundred times as long as reading it: fields that no filter names are not added.
local dissector -- Wireshark has it once this file is read
local function known_of(tree)
  dissector = dissector or Dissector.get(PREFIX)
  return { items = 0, is_visible = tree.visible, is_named = tree:referenced(dissector) }
end

local is_wanted
local function is_any_wanted(r, tree, struct)
  for _, slots in ipairs({ struct, struct.tags }) do
    for _, slot in pairs(slots) do
      if type(slot) == "table" and slot.kind and is_wanted(r, tree, slot) then
        return true
      end
    end
  end
  return struct.flexible and tree:referenced(TAG)
end

function is_wanted(r, tree, slot)
  local known = r.known
  if known.is_visible or not known.is_named then
    return known.is_visible
  elseif slot.looked ~= known then -- once a message: filters change between them
    slot.looked = known
    slot.wanted = slot.hides ~= nil
      or tree:referenced(slot.field)
      or slot.entity and tree:referenced(slot.entity)
      or slot.error and tree:referenced(ERROR)
      or slot.nullable and tree:referenced(NULL)
      or slot.element and is_wanted(r, tree, slot.element)
      or slot.struct and is_any_wanted(r, tree, slot.struct)
      or false
  end
  return slot.wanted
end

local reveal -- what hides in bytes; below
local read_struct, read_value

local function read_fixed(r, tree, slot)
  local size = slot.size
  need(r, size, slot.kind)
  if tree == nowhere then
    r.at = r.at + size
    return
  end
  local range = r.tvb(r.at, size)
  tree:add(slot.field, range)
  if slot.error and sub(r.raw, r.at + 1, r.at + 2) ~= "\0\0" then
    tree:add(ERROR, range):set_hidden()
  end
  r.at = r.at + size
end

local function read_array(r, tree, slot)
  local start, count = r.at, length(r, slot)
  if not count then
    return null(r, tree, slot, start)
  end
  if tree == nowhere and slot.element.size then
    need(r, count * slot.element.size, slot.name)
    r.at = r.at + count * slot.element.size
    return
  end
  local label = format("%s: %d element%s", slot.name, count, count == 1 and "" or "s")
  local branch = tree:add(slot.field, r.tvb(start, r.at - start), count, label)
  for i = 1, count do
    read_value(r, branch, slot.element, i - 1)
  end
  branch:set_len(r.at - start)
end

local function read_bytes(r, tree, slot) -- text, bytes and records
  local start, size = r.at, length(r, slot)
  if not size then
    return null(r, tree, slot, start)
  end
  local range, text = r.tvb(r.at, size), nil
  if slot.kind == "string" then
    tree:add_packet_field(slot.field, range, ENC_UTF_8)
    text = sub(r.raw, r.at + 1, r.at + size)
    if slot.entity then
      tree:add_packet_field(slot.entity, range, ENC_UTF_8):set_hidden()
    end
    if slot.says then
      r.known[slot.name] = text
    end
  else
    local leaf = tree:add(slot.field, range)
    if slot.hides and size > 0 then
      reveal(part(r, size), leaf, slot.hides[1], slot.hides[2])
    end
  end
  r.at = r.at + size
  return text
end

local function read_branch(r, tree, slot, index) -- a structure, of an array if it has an index
  local start = r.at
  if slot.nullable and not is_present(r, slot) then
    return null(r, tree, slot, start)
  end
  local branch = tree:add(slot.field, r.tvb(start, 0))
  if index and tree ~= nowhere then
    branch:set_text(format("%s[%d]", slot.name, index))
  end
  local title = read_struct(r, branch, slot.struct)
  branch:set_len(r.at - start)
  if index and title then
    branch:append_text(": " .. title)
  end
end

local read_here

function read_value(r, tree, slot, index)
  count_item(r)
  if tree == nowhere or is_wanted(r, tree, slot) then
    return read_here(r, tree, slot, index)
  end
  local tvb = r.tvb
  r.tvb = nothing
  local text = read_here(r, nowhere, slot, index)
  r.tvb = tvb
  return text
end

function read_here(r, tree, slot, index)
  local kind = slot.kind
  if slot.size then
    return read_fixed(r, tree, slot)
  elseif kind == "array" then
    return read_array(r, tree, slot)
  elseif kind == "struct" then
    return read_branch(r, tree, slot, index)
  elseif kind == "uuid" then
    need(r, 16, "a uuid")
    local text = uuid_text(sub(r.raw, r.at + 1, r.at + 16))
    tree:add(slot.field, r.tvb(r.at, 16), text)
    r.at = r.at + 16
    if slot.says then
      r.known[slot.name] = text
    end
    return text
  end
  return read_bytes(r, tree, slot)
end

local function read_tags(r, tree, tags)
  local count = uvarint(r)
  if count < 0 then
    fail(r, format("%d tagged fields", count))
  end
  for _ = 1, count do
    local start = r.at
    local tag, size = uvarint(r), uvarint(r)
    local at, slot = r.at, tags[tag]
    if slot then
      read_value(r, tree, slot)
      if r.at - at ~= size then
        tree:add_proto_expert_info(ODD, format("%s: %d bytes in a tag of size %d", slot.name, r.at - at, size))
      end
    else
      count_item(r)
      if size < 0 then
        fail(r, format("size %d of tag %d", size, tag))
      end
      need(r, size, "tag " .. tag)
      local leaf = tree:add(TAG, r.tvb(start, at + size - start), tag)
      leaf:add(TAG_DATA, r.tvb(at, size))
      r.at = at + size
    end
  end
end

function read_struct(r, tree, struct) -- gives the text that it begins with, if it does
  local title
  for i, slot in ipairs(struct) do
    local text = read_value(r, tree, slot)
    title = title or i == 1 and text or nil
  end
  if struct.flexible then
    read_tags(r, tree, struct.tags)
  end
  return title
end

-- Runs a function that reads; the tree shows an error. Returns whether there was none.
local function guarded(r, tree, read, ...)
  local tvb = r.tvb
  local fine, problem = pcall(read, r, tree, ...)
  r.tvb = tvb
  if fine then
    return true
  elseif type(problem) ~= "table" then
    problem = { at = r.at, why = tostring(problem) }
  end
  local at = math.min(problem.at, r.stop)
  local leaf = tree:add(UNREAD, r.tvb(at, r.stop - at))
  leaf:add_proto_expert_info(MALFORMED, format("at byte %d: %s", at, problem.why))
  return false
end

-- A whole body by a structure, and trailing bytes.
local function read_body(r, tree, struct)
  if guarded(r, tree, read_struct, struct) and r.at < r.stop then
    local leaf = tree:add(TRAILING, r.tvb(r.at, r.stop - r.at))
    leaf:add_proto_expert_info(ODD, format("%d trailing bytes", r.stop - r.at))
  end
end
