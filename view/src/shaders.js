// SPDX-License-Identifier: MIT
// Every program reads boxes from a texture, two texels an object: lower corner and touching others, upper
// corner and node. What is drawn of an object then needs no vertex data: the vertex's number tells which
// corner of which object it is. One long draw call rather than one instance an object: software renderers,
// and some GPUs, pay for every instance.

const HEAD = `#version 300 es
precision highp float;
precision highp int;
precision highp sampler2D;
uniform mat4 uView;
uniform vec3 uEye;
uniform float uMix;
uniform sampler2D uNow, uOld, uTurn, uOldTurn, uHalf;
vec4 texel(sampler2D place, int at) { return texelFetch(place, ivec2(at & 2047, at >> 11), 0); }
struct Box { vec3 middle, half_; float touching, node; };
Box boxAt(int object) {
    vec4 lower = texel(uNow, 2 * object), upper = texel(uNow, 2 * object + 1);
    vec3 low = mix(texel(uOld, 2 * object).xyz, lower.xyz, uMix), high = mix(texel(uOld, 2 * object + 1).xyz, upper.xyz, uMix);
    return Box(0.5 * (low + high), 0.5 * (high - low), lower.w, upper.w);
}
`;

// What the bodies' programs share: how a body is turned, and its colour.
const BODY = `${HEAD}
uniform int uColour, uSelected, uIsTurned, uShape;
uniform vec3 uWorld, uSizes, uIdle, uBusy;
uniform float uSpeed, uStill;
uniform vec2 uHuge;
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
vec3 ramp(float t) { // dark blue, teal, yellow: equal steps look equal
    t = clamp(t, 0.0, 1.0);
    return clamp(vec3(0.25 + t * (-0.35 + t * (0.15 + 0.92 * t)), 0.22 + t * (1.02 - 0.32 * t), 0.50 + t * (0.62 - 0.98 * t)), 0.0, 1.0);
}
vec3 wheel(float h) { return clamp(0.62 + 0.36 * cos(6.2831853 * (h + vec3(0.0, 0.33, 0.67))), 0.0, 1.0); }
vec3 tint(int object, Box box) {
    vec4 low = texel(uNow, 2 * object), high = texel(uNow, 2 * object + 1), lowOld = texel(uOld, 2 * object), highOld = texel(uOld, 2 * object + 1);
    if (uColour == 0) return box.touching < 0.5 ? uIdle : mix(uBusy, vec3(0.84, 0.24, 0.08), clamp((box.touching - 1.0) / 9.0, 0.0, 1.0));
    if (uColour == 1) {
        vec3 moved = max(abs(low.xyz - lowOld.xyz), abs(high.xyz - highOld.xyz));
        float side = dot(high.xyz - low.xyz, vec3(1.0 / 3.0));
        return max(moved.x, max(moved.y, moved.z)) <= max(0.01 * side, uStill) ? uIdle : vec3(0.20, 0.62, 0.90);
    }
    if (uColour == 2) return ramp(sqrt(0.5 * length(low.xyz + high.xyz - lowOld.xyz - highOld.xyz) / uSpeed));
    if (uColour == 3) { vec3 side = high.xyz - low.xyz; float size = pow(max(side.x * side.y * side.z, 1e-30), 1.0 / 3.0); return ramp((log(size) - uSizes.x) / max(uSizes.y - uSizes.x, 1e-3)); }
    return wheel(fract(box.node * 0.61803399)) * (0.75 + 0.25 * fract(box.node * 0.38196601 + 0.3));
}
float lightOf(vec3 n, vec3 toEye) { // from above, a little from the side, a little from the eye
    float light = 0.62 + 0.30 * n.y + 0.14 * n.x + 0.08 * n.z, facing = max(dot(n, toEye), 0.0);
    return mix(light, 1.0, 0.18) + 0.10 * facing * facing;
}
vec4 turnOf(int object) { return uIsTurned == 1 ? normalize(mix(texel(uOldTurn, object), texel(uTurn, object), uMix)) : vec4(0, 0, 0, 1); }
bool isHuge(Box box) { return all(greaterThan(box.half_, 0.5 * uHuge.x * uWorld)); } // as large as the world: it would hide everything
`;

/**
 * Bodies: three faces of a box, those that look at the eye, or all of an octahedron with its corners cut off.
 */
export const bodies = {
    vertex: `${BODY}
layout(location = 0) in vec4 aPlace; // of solids: w is 0 in the middle of a face, 1 at its rim
flat out vec3 vTint;
flat out float vPick;
out vec3 vPlace;
out vec4 vLocal; // in half sides; of solids w alone
void main() {
    int object = uShape == 1 ? gl_InstanceID : gl_VertexID / 8, corner = gl_VertexID % 8;
    Box box = boxAt(object);
    vec3 half_ = uIsTurned == 1 ? texel(uHalf, object).xyz : box.half_;
    vec4 q = turnOf(object);
    vec3 toEye = uIsTurned == 1 ? turn(vec4(-q.xyz, q.w), uEye - box.middle) : uEye - box.middle;
    // Bits of the corner: on this axis towards the eye, or away from it.
    vec3 side = vec3(toEye.x < 0.0 ? -1.0 : 1.0, toEye.y < 0.0 ? -1.0 : 1.0, toEye.z < 0.0 ? -1.0 : 1.0);
    vec3 place = side * vec3((corner & 1) * 2 - 1, (corner & 2) - 1, ((corner >> 1) & 2) - 1);
    vLocal = vec4(place, 0.0);
    if (uShape == 1) {
        place = aPlace.xyz;
        vLocal = vec4(0.0, 0.0, 0.0, aPlace.w);
    }
    vPlace = box.middle + (uIsTurned == 1 ? turn(q, place * half_) : place * half_);
    vTint = tint(object, box);
    vPick = object == uSelected ? 1.0 : 0.0;
    gl_Position = uView * vec4(vPlace, 1.0);
    if (isHuge(box)) gl_Position = vec4(2, 2, 2, 1);
}`,
    fragment: `#version 300 es
precision highp float;
uniform vec3 uEye, uAccent;
uniform float uGround;
flat in vec3 vTint;
flat in float vPick;
in vec3 vPlace;
in vec4 vLocal;
out vec4 colour;
void main() {
    vec3 toEye = normalize(uEye - vPlace), n = normalize(cross(dFdx(vPlace), dFdy(vPlace)));
    n = dot(n, toEye) < 0.0 ? -n : n;
    float light = 0.62 + 0.30 * n.y + 0.14 * n.x + 0.08 * n.z;
    light = mix(light, 1.0, 0.18) + 0.10 * pow(max(dot(n, toEye), 0.0), 2.0);
    // Pixels to the nearest edge: on a face one coordinate is 1 throughout, and does not count.
    vec4 width = max(fwidth(vLocal), vec4(1e-6)), to = (1.0 - abs(vLocal)) / width;
    to = mix(to, vec4(1e6), vec4(greaterThan(abs(vLocal), vec4(0.99999))));
    float away = min(min(to.x, to.y), min(to.z, to.w)), size = 2.0 / max(max(width.x, width.y), max(width.z, width.w));
    float edge = (1.0 - smoothstep(0.4, 1.6, away)) * smoothstep(5.0, 14.0, size);
    vec3 tint = vTint * light;
    tint = mix(tint, tint * mix(0.45, 0.30, uGround), edge);
    tint = mix(tint, mix(uAccent, vec3(1.0), 0.25 + 0.75 * edge), vPick * 0.85);
    colour = vec4(tint, 1.0);
}`,
};

/**
 * Small boxes for software renderers: one point each instead of seven corners and six triangles; each pixel
 * of its square is cut with the box, as if its rays were parallel, which at uMost pixels is half a pixel off.
 * Larger ones, and those at the border of the picture, where points vanish whole, are drawn as `bodies`.
 */
export const sprites = {
    vertex: `${BODY}
uniform vec3 uRight, uUp, uBack, uAccent; // the eye's axes, the first two as long as the picture's half sides are at distance 1
uniform vec2 uPixels, uDepth; // half sides of the picture; depth of the picture at distance d: x + y / d
uniform float uMost, uReach, uGround;
flat out vec3 vAcross, vDown, vHalf, vEdge, vRate, vLight, vTint;
flat out vec3 vDepth; // of the middle, what a unit along the ray adds; how dark edges are
void main() {
    Box box = boxAt(gl_VertexID);
    gl_Position = uView * vec4(box.middle, 1.0);
    vec3 half_ = uIsTurned == 1 ? texel(uHalf, gl_VertexID).xyz : box.half_, toEye = uEye - box.middle;
    float depth = dot(uBack, toEye);
    half_ = max(half_, vec3(1e-5 * depth)); // what is flat is seen from its side too
    vec4 q = turnOf(gl_VertexID);
    mat3 axes = uIsTurned == 1 ? mat3(turn(q, vec3(1, 0, 0)), turn(q, vec3(0, 1, 0)), turn(q, vec3(0, 0, 1))) : mat3(1.0);
    // A ray goes along -toEye, one unit deeper each; in half sides of the box along its own axes.
    vec3 way = -(toEye * axes) / (half_ * depth), right = uRight * axes / half_, up = uUp * axes / half_, by = 1.0 / way;
    vHalf = abs(by);
    // Pixels from the middle to where each half side ends, and to the rim of the square.
    vec2 centre = gl_Position.xy / gl_Position.w;
    vec3 across = (uRight * axes / dot(uRight, uRight) + centre.x * (uBack * axes)) * half_ * uPixels.x / depth, down = (uUp * axes / dot(uUp, uUp) + centre.y * (uBack * axes)) * half_ * uPixels.y / depth;
    float size = 2.0 * max(dot(abs(across), vec3(1.0)), dot(abs(down), vec3(1.0))) + 1.5;
    vEdge = sqrt(across * across + down * down);
    vRate = vEdge * abs(way);
    vAcross = -by * right * (0.5 * size / uPixels.x * depth);
    vDown = by * up * (0.5 * size / uPixels.y * depth);
    vec3 look = normalize(toEye);
    for (int axis = 0; axis < 3; ++axis) vLight[axis] = lightOf(axes[axis] * (way[axis] > 0.0 ? -1.0 : 1.0), look);
    vDepth = vec3(uDepth.x + uDepth.y / depth, -uDepth.y / (depth * depth), mix(1.0, mix(0.45, 0.30, uGround), smoothstep(6.0, 20.0, 0.5 * size)));
    vTint = tint(gl_VertexID, box);
    if (gl_VertexID == uSelected) {
        vTint = mix(uAccent, vec3(1.0), 0.25);
        vDepth.z = 1.4;
    }
    gl_PointSize = size;
    if (uReach * length(box.half_) > uMost * depth || isHuge(box)) gl_Position = vec4(2, 2, 2, 1); // near.js lists the former
}`,
    fragment: `#version 300 es
precision highp float;
flat in vec3 vAcross, vDown, vHalf, vEdge, vRate, vLight, vTint, vDepth;
out vec4 colour;
void main() {
    vec2 at = 2.0 * gl_PointCoord - 1.0;
    vec3 middle = at.x * vAcross + at.y * vDown, enter = middle - vHalf, leave = middle + vHalf;
    float first = max(enter.x, max(enter.y, enter.z));
    if (first > min(leave.x, min(leave.y, leave.z))) discard;
    vec3 face = step(vec3(first), enter), to = vEdge - abs(first - middle) * vRate + 1e6 * face;
    float edge = clamp(1.3 - min(to.x, min(to.y, to.z)), 0.0, 1.0);
    colour = vec4(vTint * (dot(face, vLight) * mix(1.0, vDepth.z, edge)), 1.0);
    gl_FragDepth = vDepth.x + first * vDepth.y;
}`,
};

/**
 * 18-DOPs or spheres around turned bodies, as glass: a square each, whose pixels are cut with the volume;
 * edges are where two faces, or front and back, meet.
 */
export const volumes = {
    vertex: `${HEAD}
uniform int uShape, uKind;
flat out vec3 vFrom, vReach, vSums, vDifferences;
flat out float vRadius;
out vec3 vWay;
vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.xyz, cross(q.xyz, v) + q.w * v); }
float along(vec3 way, mat3 sides) { // a box reaches as far as all its half sides together, a truncated octahedron as one and half of another
    vec3 parts = abs(way * sides);
    float most = max(parts.x, max(parts.y, parts.z)), all_ = parts.x + parts.y + parts.z;
    return uShape == 1 ? most + 0.5 * (all_ - most - min(parts.x, min(parts.y, parts.z))) : all_;
}
void main() {
    int object = gl_VertexID / 6, which = gl_VertexID % 6, corner = which < 3 ? which : 6 - which; // 0 1 2, 3 2 1
    Box box = boxAt(object);
    vec3 half_ = texel(uHalf, object).xyz, middle = box.middle;
    vec4 q = normalize(mix(texel(uOldTurn, object), texel(uTurn, object), uMix));
    mat3 sides = mat3(turn(q, vec3(half_.x, 0, 0)), turn(q, vec3(0, half_.y, 0)), turn(q, vec3(0, 0, half_.z)));
    vReach = vec3(along(vec3(1, 0, 0), sides), along(vec3(0, 1, 0), sides), along(vec3(0, 0, 1), sides));
    vSums = vec3(along(vec3(1, 1, 0), sides), along(vec3(1, 0, 1), sides), along(vec3(0, 1, 1), sides));
    vDifferences = vec3(along(vec3(1, -1, 0), sides), along(vec3(1, 0, -1), sides), along(vec3(0, 1, -1), sides));
    float most = max(half_.x, max(half_.y, half_.z)), least = min(half_.x, min(half_.y, half_.z)), other = half_.x + half_.y + half_.z - most - least;
    vRadius = uShape == 1 ? length(vec2(most, 0.5 * other)) : length(half_);
    float radius = uKind == 1 ? vRadius : length(vReach), away = length(uEye - middle);
    vFrom = uEye - middle;
    // Through the middle and across the line of sight, as large as the sphere looks from here.
    vec3 n = vFrom / away, right = normalize(cross(abs(n.y) < 0.9 ? vec3(0, 1, 0) : vec3(1, 0, 0), n)), up = cross(n, right);
    float size = 1.03 * radius / sqrt(max(1.0 - radius * radius / (away * away), 0.05));
    vec3 place = middle + size * (float((corner & 1) * 2 - 1) * right + float((corner & 2) - 1) * up);
    vWay = place - uEye;
    gl_Position = uView * vec4(place, 1.0);
    if (away < 1.05 * radius) gl_Position = vec4(2, 2, 2, 1); // the eye is inside
}`,
    fragment: `#version 300 es
precision highp float;
precision highp int;
uniform int uKind;
uniform vec3 uBack;
uniform vec2 uDepth;
uniform vec4 uInk;
flat in vec3 vFrom, vReach, vSums, vDifferences;
flat in float vRadius;
in vec3 vWay;
out vec4 colour;
float first = -1e30, second = -1e30, last = 1e30;
void slabs(vec3 from, vec3 way, vec3 reach) {
    vec3 by = 1.0 / way, near = -from * by - reach * abs(by), far = near + 2.0 * reach * abs(by);
    for (int i = 0; i < 3; ++i) {
        second = max(second, min(first, near[i]));
        first = max(first, near[i]);
    }
    last = min(last, min(far.x, min(far.y, far.z)));
}
void main() {
    float away, inside;
    if (uKind == 1) {
        float a = dot(vWay, vWay), middle = -dot(vFrom, vWay) / a, off = length(vFrom + middle * vWay);
        inside = vRadius - off;
        first = middle - sqrt(max(vRadius * vRadius - off * off, 0.0) / a);
        away = inside / max(fwidth(off), 1e-9);
    } else {
        slabs(vFrom, vWay, vReach);
        slabs(vFrom.xxy + vFrom.yzz, vWay.xxy + vWay.yzz, vSums);
        slabs(vFrom.xxy - vFrom.yzz, vWay.xxy - vWay.yzz, vDifferences);
        inside = last - first;
        away = min((first - second) / max(fwidth(first - second), 1e-9), inside / max(fwidth(inside), 1e-9));
    }
    if (inside < 0.0) discard;
    colour = vec4(uInk.rgb, uInk.a * mix(0.10, 1.0, 1.0 - smoothstep(0.7, 1.7, away)));
    gl_FragDepth = uDepth.x + uDepth.y / (first * -dot(uBack, vWay)) - 0.0001;
}`,
};

/** The twelve edges of boxes: of all objects, of one, or of boxes in a buffer. */
export const wires = {
    vertex: `${HEAD}
uniform int uOne, uFromBuffer;
uniform vec4 uInk;
uniform float uGrow;
layout(location = 0) in vec4 aLower;
layout(location = 1) in vec4 aUpper;
out vec4 vInk;
void main() {
    Box box;
    if (uFromBuffer == 1) box = Box(0.5 * (aLower.xyz + aUpper.xyz), 0.5 * (aUpper.xyz - aLower.xyz), 0.0, 0.0);
    else box = boxAt(uOne >= 0 ? uOne : gl_VertexID / 24);
    int vertex = gl_VertexID % 24, axis = vertex / 8, which = vertex % 8;
    vec3 sign_ = vec3((which & 1) * 2 - 1, ((which >> 1) & 1) * 2 - 1, ((which >> 2) & 1) * 2 - 1);
    vec3 place = axis == 0 ? sign_ : axis == 1 ? sign_.yxz : sign_.yzx;
    vInk = uFromBuffer == 1 ? vec4(uInk.rgb, uInk.a * aLower.w) : uInk;
    gl_Position = uView * vec4(box.middle + place * box.half_ * uGrow, 1.0);
    gl_Position.z -= 0.0004 * gl_Position.w;
}`,
    fragment: `#version 300 es
precision highp float;
in vec4 vInk;
out vec4 colour;
void main() { colour = vInk; }`,
};

/** A line from middle to middle for each pair; the top bit of an object's number says which ink. */
export const links = {
    vertex: `${HEAD}
uniform vec4 uInk, uOtherInk;
layout(location = 0) in uint aObject;
out vec4 vInk;
void main() {
    Box box = boxAt(int(aObject & 0x7fffffffu));
    vInk = aObject > 0x7fffffffu ? uOtherInk : uInk;
    gl_Position = uView * vec4(box.middle, 1.0);
}`,
    fragment: wires.fragment,
};

/** Planes of the tree: axis-aligned rectangles. */
export const planes = {
    vertex: `${HEAD}
layout(location = 0) in vec4 aLower; // w: axis
layout(location = 1) in vec4 aUpper; // w: depth
out vec2 vEdge;
flat out vec4 vInk;
void main() {
    int axis = int(aLower.w);
    vec2 uv = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    vec3 t = axis == 0 ? vec3(0, uv) : axis == 1 ? vec3(uv.y, 0, uv.x) : vec3(uv, 0);
    vec3 tint = axis == 0 ? vec3(0.86, 0.28, 0.30) : axis == 1 ? vec3(0.22, 0.68, 0.42) : vec3(0.28, 0.48, 0.92);
    vInk = vec4(tint, max(0.34 - 0.035 * aUpper.w, 0.07));
    vEdge = 2.0 * uv - 1.0;
    gl_Position = uView * vec4(mix(aLower.xyz, aUpper.xyz, t), 1.0);
}`,
    fragment: `#version 300 es
precision highp float;
in vec2 vEdge;
flat in vec4 vInk;
out vec4 colour;
void main() {
    vec2 away = (1.0 - abs(vEdge)) / max(fwidth(vEdge), vec2(1e-6));
    float edge = 1.0 - smoothstep(0.5, 2.0, min(away.x, away.y));
    colour = vec4(vInk.rgb, mix(vInk.a * 0.55, 0.85, edge));
}`,
};
