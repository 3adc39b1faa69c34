"""Actions on runs: writing with the model, deciding on its changes, and run files."""

from __future__ import annotations

from textual import work

from tui.player.player import Player
from tui.player.run_files import RunFiles
from tui.widgets.panels import SidePanel, Timeline


class RunActions:
    """What the player and the files of runs do."""

    player: Player
    run_files: RunFiles

    def action_continue(self) -> None:
        self.player.continue_()

    def action_infill(self) -> None:
        self.player.infill()

    def action_revise(self) -> None:
        self.player.revise()

    def action_pause(self) -> None:
        self.player.pause_or_play()

    def action_step(self) -> None:
        self.player.step()

    def action_rewrite(self) -> None:
        self.player.rewrite()

    def action_keep(self) -> None:
        self.player.keep()

    def action_discard(self) -> None:
        self.player.discard()

    def action_speed(self, by: int) -> None:
        self.player.change_speed(by)

    def action_full_speed(self) -> None:
        self.player.finish()

    def action_look(self, by: int) -> None:
        self.player.look(by)

    def action_decide(self, accepted: bool) -> None:
        self.player.decide(accepted)

    def on_timeline_scrubbed(self, event: Timeline.Scrubbed) -> None:
        self.player.scrub(event.depth)

    def on_side_panel_go_to(self, event: SidePanel.GoTo) -> None:
        self.player.go_to(event.node)

    def on_side_panel_take(self, event: SidePanel.Take) -> None:
        self.player.choose(event.option)

    @work
    async def action_play_file(self) -> None:
        await self.run_files.open()

    @work
    async def action_save_run(self) -> None:
        await self.run_files.save()

    @work
    async def action_export_page(self) -> None:
        await self.run_files.export_page()

    @work
    async def action_export_diff(self) -> None:
        await self.run_files.export_diff()
