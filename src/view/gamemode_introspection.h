/* SPDX-License-Identifier: GPL-2.0 */
/* What 'tactus gamemode' offers, as D-Bus describes interfaces. */
#ifndef TACTUS_VIEW_GAMEMODE_INTROSPECTION_H
#define TACTUS_VIEW_GAMEMODE_INTROSPECTION_H

#define METHOD(name, takes) "<method name='" name "'>" takes "<arg type='i' direction='out'/></method>"
#define ONE(type) "<arg type='" type "' direction='in'/>"

static const char gamemode_introspection[] = "<node><interface name='com.feralinteractive.GameMode'>" METHOD(
	"RegisterGame", ONE("i")) METHOD("UnregisterGame", ONE("i")) METHOD("QueryStatus", ONE("i"))
	METHOD("RegisterGameByPID", ONE("i") ONE("i")) METHOD("UnregisterGameByPID", ONE("i") ONE("i"))
		METHOD("QueryStatusByPID", ONE("i") ONE("i")) METHOD("RegisterGameByPIDFd", ONE("h") ONE("h")) METHOD(
			"UnregisterGameByPIDFd", ONE("h") ONE("h")) METHOD("QueryStatusByPIDFd", ONE("h") ONE("h"))
			METHOD("RefreshConfig",
			       "") "<method name='ListGames'><arg type='a(io)' direction='out'/></method>"
				   "<property name='ClientCount' type='i' access='read'/>"
				   "<signal name='GameRegistered'><arg type='i'/><arg type='o'/></signal>"
				   "<signal name='GameUnregistered'><arg type='i'/><arg type='o'/></signal>"
				   "</interface></node>";

#undef METHOD
#undef ONE

#endif
